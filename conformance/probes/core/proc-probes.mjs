// All probes that need the process, real sockets or long idle times.

import { CONNECTIONS } from "./connection-probes.mjs";
import { EVICTION } from "./eviction-probes.mjs";
import { RESTARTS } from "./restart-probes.mjs";

export const PROCESS_PROBES = { ...EVICTION, ...CONNECTIONS, ...RESTARTS };
