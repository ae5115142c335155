import { CROWDS } from './crowds.ts';
import { HOSTILE_PACKAGES as READ_PACKAGES } from './packages.ts';
import { PAGING_PACKAGES } from './paging.ts';
import { HOSTILE_PACKAGES as CHECKED_PACKAGES } from './requests.ts';
import type { Stranger } from './stranger.ts';

/** Every row of all tables. */
export const STRANGERS: readonly Stranger[] = [...READ_PACKAGES, ...PAGING_PACKAGES, ...CHECKED_PACKAGES, ...CROWDS];
