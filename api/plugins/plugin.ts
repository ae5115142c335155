import type { NamedPlugin } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';

/** A part of the server. If the order of its steps matters, it names the plugin before or after which they run. */
export type AppPlugin = NamedPlugin<{ app: App }>;
