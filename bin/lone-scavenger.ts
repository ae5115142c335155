import { setFlagsFromString } from 'node:v8';

/**
 * Imported before anything else. V8 lets threads help wherever it collects young objects; a process that is scaled out by its number
 * has its neighbours on the other cores, and what the helpers cost them is more than they save: 1,310 µs of CPU a fetch with them, 1,070
 * without (bench/PROFILE.md). Old objects are still marked beside the program.
 */
setFlagsFromString('--no-parallel-scavenge');
