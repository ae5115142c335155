import { Resolver } from 'node:dns/promises';
import { proofLine, proofName } from '../../shared/domain/site/proof.ts';
import { isOnDomain } from '../../shared/domain/site/site-name.ts';
import { codeOfError } from '../../shared/platform/error-code.ts';

/** Timeout of one query, which is retried once, and of all queries together. */
const TIMEOUT_MS = 1500;
const TRIES = 2;
const WHOLE_MS = 5000;
const MAX_ALIASES = 4;

/**
 * Looks for a claim's TXT record. An alias (CNAME) outside of the domain does not count: with a wildcard alias to a provider, its other
 * customers could answer.
 * @param resolvers `address:port`; empty: the system's resolvers
 * @returns undefined if the record is there, otherwise why the claim is not proven
 */
export async function readTxt(registrable: string, token: string, resolvers: readonly string[]): Promise<string | undefined> {
    const name = proofName(registrable);
    // Below a public suffix such as github.io every name may be a customer's.
    if (!isOnDomain(name, registrable))
        return `${registrable} is a public suffix, where names belong to customers: prove it by the file instead.`;
    const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
    if (resolvers.length > 0) resolver.setServers(resolvers);
    const timer = setTimeout(() => resolver.cancel(), WHOLE_MS);
    try {
        const records = await resolver.resolveTxt(name);
        if (!records.some((chunks) => chunks.join('').trim() === proofLine(token))) return `${name} has no TXT record with this value.`;
        return await checkAliases(resolver, name, registrable);
    } catch (error) {
        return `${name}: ${WORDS[codeOfError(error)] ?? 'the DNS look-up failed'}.`;
    } finally {
        clearTimeout(timer);
    }
}

async function checkAliases(resolver: Resolver, name: string, registrable: string): Promise<string | undefined> {
    let alias: string | undefined = name;
    for (let count = 0; count <= MAX_ALIASES; count++) {
        alias = await aliasOf(resolver, alias);
        if (alias === undefined) return undefined;
        if (!isOnDomain(alias.toLowerCase().replace(/\.$/, ''), registrable))
            return `${name} is an alias of a name outside ${registrable}.`;
    }
    return `${name} is a chain of more than ${MAX_ALIASES} aliases.`;
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
