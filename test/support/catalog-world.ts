import { expect } from 'chai';
import type { CatalogAnswer } from '../../shared/contracts/catalog.ts';
import { type Answer, join, type Person, stranger } from './people.ts';
import { useWorld, type World } from './world.ts';

interface CatalogWorld {
    world: World;
    /** A caller who publishes. */
    maker: Person;
    lookUp(domain: string, intent?: string, by?: { header?: string; person?: Person }): Promise<Answer>;
}

/** Opens a world for look-ups of a `describe`. Callers without a key have 5 an hour, so each call comes from a new address. */
export function useCatalogWorld(): CatalogWorld {
    const world = useWorld({ workers: 0, config: { trustProxy: 1 } });
    let address = 0;
    const opened: CatalogWorld = {
        world,
        maker: {} as Person,
        lookUp: (domain, intent, { header, person = stranger(world) } = {}) =>
            person.call('GET', `/v1/catalog/${domain}${intent === undefined ? '' : `?intent=${encodeURIComponent(intent)}`}`, {
                headers: {
                    'x-forwarded-for': `192.0.2.${++address % 250}`,
                    ...(header === undefined ? {} : { 'x-service-intent': header }),
                },
            }),
    };
    before(async () => void Object.assign(opened.maker, await join(world, { plan: 'enterprise' })));
    return opened;
}

export function catalogOf({ status, body }: Answer): CatalogAnswer {
    expect(status, JSON.stringify(body)).to.equal(200);
    return body as unknown as CatalogAnswer;
}
