import type { App } from '../../shared/app.ts';
import { getOrMake } from '../../shared/domain/get-or-make.ts';

/** Creates a value once per app, when it is first requested. */
export function perApp<Thing extends object>(create: (app: App) => Thing): (app: App) => Thing {
    const things = new WeakMap<App, Thing>();
    return (app) => getOrMake(things, app, () => create(app));
}
