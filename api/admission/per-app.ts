import type { App } from '../../shared/app.ts';

/** Creates a value once per app, when it is first requested. */
export function perApp<Thing>(create: (app: App) => Thing): (app: App) => Thing {
    const things = new WeakMap<App, Thing & object>();
    return (app) => {
        const known = things.get(app) ?? (create(app) as Thing & object);
        things.set(app, known);
        return known;
    };
}
