import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import type { ClaimEntry } from '../../shared/contracts/claims.ts';
import { inTurn } from './in-turn.ts';
import { type NameServer, openNameServer } from './name-server.ts';
import { type OwnerSites, openOwnerSites } from './owner-sites.ts';
import type { Person } from './people.ts';
import { dataOf } from './routes.ts';
import { openWorld, type Topology, type World } from './world.ts';

/** The file that proves a domain. */
export const PROOF_FILE = '/.well-known/routebook.txt';

/**
 * Opens a world with a name server and with web servers of owners before the tests of a suite, and closes them after these. `opened` has them
 * from the first test on.
 */
export function useClaims(topology: Topology) {
    const opened = {} as { world: World; names: NameServer; web: OwnerSites };
    const hosts = new Map<string, string[]>();
    let number = 0;

    before(async () => {
        for (let index = 1; index <= 60; index++)
            for (const host of [`own${index}.test`, `www.own${index}.test`, `other.own${index}.test`]) hosts.set(host, ['127.0.0.1']);
        for (const suffix of ['js.org', 'duckdns.org']) for (const host of [suffix, `www.${suffix}`]) hosts.set(host, ['127.0.0.1']);
        opened.names = await openNameServer();
        opened.web = await openOwnerSites(hosts);
        opened.world = await openWorld({
            topology,
            connector: opened.web.connector,
            claimLookMs: 20,
            config: { egressHosts: hosts, claimResolvers: [opened.names.resolver] },
        });
    });
    after(async () => {
        await opened.world.close();
        await Promise.all([opened.names.close(), opened.web.close()]);
    });

    const newDomain = () => `own${++number}.test`;
    const claim = async (by: Person, domain: string) =>
        dataOf<ClaimEntry>(await inTurn(() => by.call('POST', `/v1/sites/${domain}/claims`)));
    const check = (by: Person, { domain, claim_id: id }: Pick<ClaimEntry, 'domain' | 'claim_id'>) =>
        by.call('POST', `/v1/sites/${domain}/claims/${id}/check`);
    const checked = async (by: Person, made: ClaimEntry) => dataOf<{ status: string; reason: string | null }>(await check(by, made));
    const shown = async (by: Person, { domain, claim_id: id }: ClaimEntry) => {
        const listed = dataOf<ClaimEntry[]>(await by.call('GET', `/v1/sites/${domain}/claims`));
        return listed.find((one) => one.claim_id === id) as ClaimEntry;
    };
    const serveText = (host: string, text: string, more: (response: ServerResponse) => void = () => {}) =>
        opened.web.hosts.set(host, ({ url }, response) => {
            if (url !== PROOF_FILE) return void response.writeHead(404).end();
            more(response);
            response.end(text);
        });
    const proveByDns = async (by: Person, domain: string) => {
        const made = await claim(by, domain);
        const record = opened.names.names.get(`_routebook.${domain}`);
        opened.names.names.set(`_routebook.${domain}`, { txt: [...(record?.txt ?? []), made.value] });
        expect((await checked(by, made)).status).to.equal('proven');
        return made;
    };

    return { opened, hosts, newDomain, claim, check, checked, shown, serveText, proveByDns };
}
