// Refuses a Node.js that is too old for the recorder. Imported first, so that nothing else fails before.

const NEEDED = [20, 11]; // import.meta.dirname

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < NEEDED[0] || (major === NEEDED[0] && minor < NEEDED[1])) {
  console.error(`error: the recorder needs Node.js ${NEEDED.join(".")} or later, not ${process.versions.node}`);
  process.exit(3);
}
