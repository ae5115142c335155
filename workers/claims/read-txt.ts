import { Resolver } from 'node:dns/promises';
import { proofLine, proofName } from '../../shared/domain/proof.ts';
import { isOnDomain } from '../../shared/domain/site-name.ts';

/** A name server that does not answer in time is asked once more; all queries together have so long. Milliseconds. */
const TIMEOUT_MS = 1500;
const TRIES = 2;
const WHOLE_MS = 5000;
const MOST_ALIASES = 4;

/**
 * Looks for a claim's TXT record. An alias (CNAME) that leaves the domain proves nothing: a wildcard alias to a provider would let the
 * provider's other customers answer.
 * @param resolvers `address:port`; empty: those of the system
 * @returns undefined where the record is there, otherwise why it does not prove the claim
 */
export async function readTxt(registrable: string, token: string, resolvers: readonly string[]): Promise<string | undefined> {
    const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
    if (resolvers.length > 0) resolver.setServers(resolvers);
    const name = proofName(registrable);
    const timer = setTimeout(() => resolver.cancel(), WHOLE_MS);
    try {
        const records = await resolver.resolveTxt(name);
        if (!records.some((chunks) => chunks.join('').trim() === proofLine(token))) return `${name} has no TXT record with this value.`;
        return await judgeAliases(resolver, name, registrable);
    } catch (error) {
        return `${name}: ${WORDS[(error as { code?: string }).code ?? ''] ?? 'the name servers could not be asked'}.`;
    } finally {
        clearTimeout(timer);
    }
}

async function judgeAliases(resolver: Resolver, name: string, registrable: string): Promise<string | undefined> {
    let alias: string | undefined = name;
    for (let count = 0; count <= MOST_ALIASES; count++) {
        alias = await aliasOf(resolver, alias);
        if (alias === undefined) return undefined;
        if (!isOnDomain(alias.toLowerCase().replace(/\.$/, ''), registrable))
            return `${name} is an alias of a name outside ${registrable}.`;
    }
    return `${name} is an alias of an alias too many times.`;
}

async function aliasOf(resolver: Resolver, name: string): Promise<string | undefined> {
    try {
        return (await resolver.resolveCname(name))[0];
    } catch (error) {
        const { code } = error as { code?: string };
        if (code === 'ENODATA' || code === 'ENOTFOUND') return undefined;
        throw error;
    }
}

const WORDS: Readonly<Record<string, string>> = {
    ENODATA: 'there is no TXT record',
    ENOTFOUND: 'there is no such name',
    ETIMEOUT: 'the name servers did not answer in time',
    ECANCELLED: 'the name servers did not answer in time',
    ESERVFAIL: 'the name servers failed',
    EREFUSED: 'the name servers refused to answer',
    ECONNREFUSED: 'the name servers could not be reached',
};
