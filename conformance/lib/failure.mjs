// Why a command ended without doing its work, and the exit code that says which kind of reason it was.

export const EXIT = {
  ok: 0,
  differs: 1, // a probe did not answer as recorded, or the data is not well formed
  usage: 2, // the command line asks for something that does not exist
  unable: 3, // this machine cannot run the real runtime: platform, npm, network
  interrupted: 130,
};

export class Failure extends Error {
  constructor(exit, message) {
    super(message);
    this.exit = exit;
  }
}
