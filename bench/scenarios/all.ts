import { BATCHES, BEHIND_BATCHES, BESIDE_BATCHES } from './batches.ts';
import { CONNECTIONS } from './connections.ts';
import { COMPARISON, STEADY, WORKERS } from './fetches.ts';
import { FIND } from './find.ts';
import { GROWTH } from './growth.ts';
import { ISOLATION } from './isolation.ts';
import { OVERLOAD } from './overload.ts';
import { MEMORY, PARTS, STARTS } from './processes.ts';
import { REGISTRY } from './registry.ts';
import type { Round } from './scenario.ts';
import { STOCK } from './stock.ts';
import { BESIDE_STRANGERS } from './strangers.ts';
import { WEBHOOKS } from './webhooks.ts';

/** All rounds of `npm run bench`, in order. Later rounds may use figures of earlier ones. */
export const ROUNDS: readonly Round[] = [
    COMPARISON,
    STEADY,
    WORKERS,
    CONNECTIONS,
    STOCK,
    PARTS,
    BATCHES,
    BESIDE_BATCHES,
    BEHIND_BATCHES,
    WEBHOOKS,
    REGISTRY,
    FIND,
    STARTS,
    MEMORY,
    ...ISOLATION,
    BESIDE_STRANGERS,
    OVERLOAD,
    GROWTH,
];
