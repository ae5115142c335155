import type { NamedPlugin } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';

/** A part of the server. Where the order of its steps matters, it says before or after which other plugin they run. */
export type AppPlugin = NamedPlugin<{ app: App }>;
