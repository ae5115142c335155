import type { App } from '../../shared/app.ts';

/** Something that each process has once: made when it is first asked for. */
export function perApp<Thing>(create: (app: App) => Thing): (app: App) => Thing {
    const things = new WeakMap<App, Thing & object>();
    return (app) => {
        const known = things.get(app) ?? (create(app) as Thing & object);
        things.set(app, known);
        return known;
    };
}
