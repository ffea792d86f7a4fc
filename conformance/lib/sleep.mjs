// Waiting on the wall clock: the real runtime keeps its own time.

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
