import type { Detail } from '../../refusals.ts';
import { normaliseSite } from '../site/site-name.ts';
import { normaliseNewlines } from '../text/text-rule.ts';
import type { Json, PackageAuth, PackageDocument } from '../types.ts';
import { checkAuth } from './rules/auth.ts';
import { MAX_EXPRESSION_CHARACTERS, MAX_EXPRESSIONS } from './rules/bounds.ts';
import { createBudget } from './rules/budget.ts';
import { checkEndpoint } from './rules/endpoint-rules.ts';
import { checkPlaceholderTexts } from './rules/placeholder-texts.ts';
import { createReport, quoted, type Report } from './rules/report.ts';
import { type EndpointDraft, MAX_PARAMS, type PackageDraft, readPackage } from './rules/structure.ts';
import { checkTree } from './rules/tree.ts';
import type { UrlContext } from './rules/urls.ts';
import { isCategory, nearCategories } from './taxonomy.ts';
import { isVerifiablePackage } from './verification.ts';

export interface PackageContext {
    /** Whether EGRESS_ALLOW contains this port, which also allows plain http. The worker checks again when it connects. */
    isPortAllowed(port: number): boolean;
    /** The places where `value` does not hold a number of the package's text exactly (`roundedNumbers`); absent if there was no text. */
    rounded?: readonly Detail[];
}

/** A warning about an accepted package. `path` is a JSON pointer into it. */
export interface PackageWarning {
    code: 'NO_EXAMPLES';
    path: string;
    message: string;
}

export type PackageVerdict =
    | { ok: true; document: PackageDocument; warnings: PackageWarning[] }
    | {
          ok: false;
          /** All problems, at most 500, in no defined order. Values that are too deep or too large are not examined. */
          problems: Detail[];
      };

/**
 * Checks all rules of a published package (docs/api.md, "Schema packages"). A pure function: it resolves no names and fetches nothing.
 * Never throws for any parsed JSON `value`. `document` is the package that is stored and hashed: with the canonical spelling of `site`, CR
 * LF in descriptions replaced by LF, and without the `$schema` that drafts contain for editors. Nothing else is added or left out. Messages
 * never repeat text that looks like a secret.
 */
export function checkPackage(value: unknown, context: PackageContext): PackageVerdict {
    const report = createReport();
    report.addAll(context.rounded ?? []);
    if (!checkTree(value, report)) return { ok: false, problems: report.problems };
    const draft = readPackage(value, [], report);
    if (draft === undefined) return { ok: false, problems: report.problems };
    const site = draft.site === undefined ? undefined : checkSite(draft.site, report);
    checkCategory(draft, report);
    checkNames(draft, report);
    checkPlaceholderTexts(draft, report);
    checkAuth(draft, report, context.isPortAllowed);
    if (!checkExpressions(draft, report)) return { ok: false, problems: report.problems };
    const urls: UrlContext = { registrable: site?.registrable, isPortAllowed: context.isPortAllowed };
    const budget = createBudget();
    for (const [index, endpoint] of (draft.endpoints ?? []).entries()) {
        if (report.isFull()) break;
        if (endpoint !== undefined) checkEndpoint(endpoint, ['endpoints', index], report, urls, budget);
    }
    if (report.problems.length > 0 || site === undefined) return { ok: false, problems: report.problems };
    const document = asPublished(value as PackageDocument, site.site);
    return { ok: true, document, warnings: warningsOf(document) };
}

function checkSite(text: string, report: Report): { site: string; registrable: string } | undefined {
    const named = normaliseSite(text);
    if (named.ok) return named;
    report.add(['site'], 'INVALID_DOMAIN', named.message);
    return undefined;
}

function checkCategory({ intent_category: category }: PackageDraft, report: Report): void {
    if (category === undefined || isCategory(category)) return;
    const near = nearCategories(category);
    const hint = near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`;
    report.add(
        ['intent_category'],
        'UNKNOWN_CATEGORY',
        `There is no category ${quoted(category)}.${hint} GET /v1/categories and "routebook categories" list all of them.`,
    );
}

function checkNames({ endpoints = [] }: PackageDraft, report: Report): void {
    const seen = new Set<string>();
    let params = 0;
    for (const [index, endpoint] of endpoints.entries()) {
        params += endpoint?.params?.length ?? 0;
        const name = endpoint?.name;
        if (name === undefined) continue;
        if (seen.has(name))
            report.add(['endpoints', index, 'name'], 'DUPLICATE_NAME', `Another endpoint of this package is called ${quoted(name)} too.`);
        seen.add(name);
    }
    if (params > MAX_PARAMS)
        report.add(
            ['endpoints'],
            'TOO_COMPLEX',
            `A package may have at most ${MAX_PARAMS} params over all its endpoints; this one has ${params}.`,
        );
}

/** Whether the expressions of all endpoints are few and short enough to compile them. */
function checkExpressions({ endpoints = [] }: PackageDraft, report: Report): boolean {
    const texts = endpoints.flatMap(expressionTexts);
    const count = texts.length;
    const characters = texts.reduce((sum, { length }) => sum + length, 0);
    const place = 'in selects, paginations and steps of prepare';
    if (count > MAX_EXPRESSIONS)
        report.add(
            ['endpoints'],
            'TOO_COMPLEX',
            `A package may have at most ${MAX_EXPRESSIONS} expressions ${place}; this one has ${count}.`,
        );
    if (characters > MAX_EXPRESSION_CHARACTERS)
        report.add(
            ['endpoints'],
            'TOO_COMPLEX',
            `The expressions of a package may have at most ${MAX_EXPRESSION_CHARACTERS} characters ${place}; these have ${characters}.`,
        );
    return count <= MAX_EXPRESSIONS && characters <= MAX_EXPRESSION_CHARACTERS;
}

/** All texts where an endpoint has expressions. Keywords beside them, such as types, and names of cookies count too. */
function expressionTexts({ response, pagination, prepare }: EndpointDraft = {}): string[] {
    const steps = prepare?.steps.map((step) => [step?.form ?? null, step?.extract ?? null]) ?? [];
    const { next, unique, end } = pagination ?? {};
    const all = [response?.select ?? null, steps, next ?? null, unique ?? null, end?.total ?? null, end?.has_more ?? null];
    return textsIn(all as Json);
}

/** Recursion is bounded: a package nests at most 32 levels. */
function textsIn(value: Json | undefined): string[] {
    if (typeof value === 'string') return [value];
    return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function asPublished({ $schema: _, ...document }: PackageDocument & { $schema?: string }, site: string): PackageDocument {
    return {
        ...withUnixLines(document),
        site,
        ...(document.auth === undefined ? {} : { auth: document.auth.map(asPublishedAuth) }),
        endpoints: document.endpoints.map((endpoint) => {
            const { params, ...rest } = withUnixLines(endpoint);
            return params === undefined ? rest : { ...endpoint, ...rest, params: params.map(withUnixLines) };
        }),
    };
}

function asPublishedAuth(entry: PackageAuth): PackageAuth {
    const { oauth2, ...rest } = withUnixLines(entry);
    if (oauth2?.scopes === undefined) return withUnixLines(entry);
    return { ...rest, oauth2: { ...oauth2, scopes: oauth2.scopes.map(withUnixLines) } };
}

function withUnixLines<T extends { description?: string }>(described: T): T {
    return described.description === undefined ? described : { ...described, description: normaliseNewlines(described.description) };
}

/** The examples of reads verify a site, so a package needs at least one. */
function warningsOf(document: PackageDocument): PackageWarning[] {
    if (isVerifiablePackage(document)) return [];
    return [
        {
            code: 'NO_EXAMPLES',
            path: '/endpoints',
            message:
                'No hosted read endpoint that works without a credential has an example, so this version cannot be verified; add examples with the params of a call that works, or lend a connection to its runs (verify_with).',
        },
    ];
}
