import { type FoundEndpoint, MATCHED } from '../../shared/contracts/endpoints.ts';
import { wordsOf } from '../../shared/domain/find/candidates.ts';
import { type Phrases, unitsOf } from '../../shared/domain/find/phrases.ts';
import type { Search } from '../../shared/domain/find/weigh.ts';
import { stemsOf } from '../../shared/domain/search/tokens.ts';
import { shippedPhrases } from '../../shared/platform/phrases.ts';
import type { EndpointRow } from '../../shared/store/registry/list-endpoints.ts';

/** The searched task, and how well an endpoint fits it. */
interface Fit {
    terms: Search['terms'];
    score: number;
}

/** An endpoint as GET /v1/endpoints returns it. @param fit undefined without a task */
export function presentFound(row: EndpointRow, fit: Fit | undefined): FoundEndpoint {
    const { site, name: endpoint, entry, effect } = row;
    const { title, description, required, optional, fields, hosted, unit, maxResults, example } = entry;
    return {
        site,
        title,
        endpoint,
        kind: row.kind,
        effect,
        description,
        required,
        optional,
        returns: { fields },
        credits: row.siteCredits,
        billing_unit: unit,
        max_results: unit === 'result' ? maxResults : null,
        verified: row.verifiedAt !== null,
        verified_at: row.verifiedAt?.toISOString() ?? null,
        claim: row.claim,
        health: { success_rate_7d: row.successRate, p95_ms: row.p95Ms },
        needs_connection: entry.needsConnection ?? false,
        hosted,
        score: fit === undefined ? null : Math.round(fit.score * 1000) / 1000,
        matched: fit === undefined ? [] : matchedIn(row, fit.terms),
        fetch:
            hosted && example !== null
                ? { site, endpoint, params: example, ...(effect === 'write' ? { dry_run: true as const } : {}) }
                : null,
    };
}

/** The fields that contain words of the task. */
function matchedIn({ name, site, intentCategory, entry }: EndpointRow, terms: Search['terms']): FoundEndpoint['matched'] {
    const sought = new Set(terms.filter(({ isTelling }) => isTelling).flatMap(wordsOf));
    const texts: Record<(typeof MATCHED)[number], string[]> = {
        endpoint: [name],
        description: [entry.description],
        params: [...entry.required.flatMap((param) => [param.name, param.description]), ...entry.optional],
        returns: entry.fields,
        site: [entry.title, site.split('.').slice(0, -1).join(' ')],
        category: intentCategory.split('/'),
    };
    const dictionary = shippedPhrases();
    return MATCHED.filter((field) => texts[field].some((text) => hasWord(text, sought, dictionary)));
}

function hasWord(text: string, sought: ReadonlySet<string>, dictionary: Phrases): boolean {
    return unitsOf(stemsOf(text, { isName: true }), dictionary, 'description').some(
        ({ stems, ideas }) => stems.some((stem) => sought.has(stem)) || ideas.some((idea) => sought.has(idea)),
    );
}
