import type { App } from '../../shared/app.ts';

/** Creates a value once per app, when it is first requested. */
export function perApp<Thing extends object>(create: (app: App) => Thing): (app: App) => Thing {
    const things = new WeakMap<App, Thing>();
    return (app) => {
        const known = things.get(app) ?? create(app);
        things.set(app, known);
        return known;
    };
}
