import type { PackageDocument } from '../../shared/domain/types.ts';
import { settle } from '../inspect/settle.ts';
import { authOf } from './auth.ts';
import type { NotCarried, ReadOperation } from './operation.ts';
import { shortenResponses } from './shorten-responses.ts';
import { MAX_ENDPOINTS, mostUseful, type Part, splitOperations } from './split-operations.ts';

/** The result of an import. Each operation is either in `carried` or, with `scope: 'operation'`, in `notCarried`. */
export interface Imported {
    /** The first of `packages`. */
    package: PackageDocument;
    /** Several if the document exceeds the limits of one package. */
    packages: PackageDocument[];
    carried: { where: string; name: string }[];
    notCarried: NotCarried[];
    counts: { operations: number; carried: number; notCarried: number };
    /** Problems that prevent publishing the drafts, and warnings. */
    leftToDo: { site?: string; path: string; message: string }[];
}

export interface ImportOptions {
    /** The site's name; by default that of the document. */
    site?: string;
    title?: string;
    /** A path of the taxonomy; by default that of the document, or a guess. */
    category?: string;
    isPortAllowed?: (port: number) => boolean;
    /** Tags, paths and methods of the operations to import; see `onlyWanted`. */
    only?: readonly string[];
    /** Make only one package. If the document exceeds its limits, take the most useful operations. */
    single?: boolean;
}

/** The document cannot be imported. The message says what to do. */
export class CannotImport extends Error {}

/** Maximum number of bytes of a package that a server accepts, with room for the envelope. */
const MAX_BYTES = 4_000_000;

type Head = Omit<PackageDocument, 'endpoints'>;

/** Builds packages that follow the rules of publishing. Lists everything that the rules refuse or that exceeds a limit. */
export function assemblePackages(
    head: Head,
    operations: readonly ReadOperation[],
    notCarried: NotCarried[],
    options: ImportOptions,
): Imported {
    const parts = options.single === true ? [chooseOperations(operations, notCarried)] : splitOperations(operations);
    const nameOf = createSiteNames(head.site);
    const made = parts.map((part, index) => {
        const site = index === 0 ? head.site : nameOf(part.tag ?? '');
        const title = index === 0 || part.tag === undefined ? head.title : `${head.title}: ${part.tag}`.slice(0, 200);
        return finishPart({ ...head, site, title }, part.operations, notCarried, options);
    });
    const [first] = made;
    const packages = made.filter((one, index) => index === 0 || one.package.endpoints.length > 0);
    const carried = made.flatMap((one) => one.carried);
    const refused = notCarried.filter(({ scope }) => scope === 'operation').length;
    return {
        package: first?.package ?? { ...head, endpoints: [] },
        packages: packages.map((one) => one.package),
        carried,
        notCarried,
        counts: { operations: carried.length + refused, carried: carried.length, notCarried: refused },
        leftToDo: packages.flatMap(({ package: { site }, leftToDo }) =>
            packages.length === 1 ? leftToDo : leftToDo.map((one) => ({ site, ...one })),
        ),
    };
}

function chooseOperations(operations: readonly ReadOperation[], notCarried: NotCarried[]): Part {
    const { chosen: own, rest } = mostUseful(operations);
    const why = `A package has at most ${MAX_ENDPOINTS} endpoints with 2,000 params; only the most useful ones are imported.`;
    for (const { where } of rest) notCarried.push({ where, why, scope: 'operation' });
    return { tag: undefined, operations: own };
}

function finishPart(head: Head, operations: readonly ReadOperation[], notCarried: NotCarried[], options: ImportOptions) {
    const whereOf = new Map(operations.map(({ where, endpoint }) => [endpoint.name, where]));
    const { auth, operations: own } = authOf(operations, notCarried);
    const fitting = shortenResponses(own, notCarried);
    const whole = { ...head, ...(auth.length === 0 ? {} : { auth }), endpoints: fitting.map(({ endpoint }) => endpoint) };
    const settled = settle(whole, options.isPortAllowed ?? (() => false));
    for (const { endpoint, why } of settled.refused)
        notCarried.push({ where: whereOf.get(endpoint.name) ?? endpoint.name, why, scope: 'operation' });
    for (const { endpoint, part, why } of settled.removed)
        notCarried.push({ where: `${whereOf.get(endpoint.name) ?? endpoint.name}, ${part}`, why, scope: 'part' });
    const made = withCredentialTest(withoutLargestSchemas(settled.package, (name) => whereOf.get(name) ?? name, notCarried));
    const carried = made.endpoints.map(({ name }) => ({ where: whereOf.get(name) ?? name, name }));
    return { package: made, carried, leftToDo: settled.leftToDo };
}

const CURRENT_USER =
    /^(?:get_|read_|fetch_|show_)?(?:me|whoami|self|current_user|users?_me|my_(?:user|profile|account)|user|account|profile|viewer)$/;

/** Sets the endpoint that tests a credential, if one endpoint returns the credential's user. */
function withCredentialTest({ auth, ...document }: PackageDocument): PackageDocument {
    if (auth === undefined) return document;
    const test = document.endpoints.find(
        ({ name, method, auth: need, hosted, kind, params = [] }) =>
            method === 'GET' &&
            need === 'required' &&
            hosted !== false &&
            kind !== 'submit_form' &&
            CURRENT_USER.test(name) &&
            params.every(({ required, default: standard }) => !required || standard !== undefined),
    );
    const [only] = auth;
    const isTested = test !== undefined && auth.length === 1 && only !== undefined;
    const { endpoints, ...head } = document;
    return { ...head, auth: isTested ? [{ ...only, test: test.name }] : auth, endpoints };
}

/** Removes the largest response schemas until the package is small enough to be published. */
function withoutLargestSchemas(document: PackageDocument, whereOf: (name: string) => string, notCarried: NotCarried[]): PackageDocument {
    let bytes = Buffer.byteLength(JSON.stringify(document));
    if (bytes <= MAX_BYTES) return document;
    const sizes = document.endpoints.map((endpoint, index) => ({ index, size: JSON.stringify(endpoint.response ?? {}).length }));
    const dropped = new Set<number>();
    for (const { index, size } of sizes.sort((a, b) => b.size - a.size)) {
        if (bytes <= MAX_BYTES) break;
        dropped.add(index);
        bytes -= size;
    }
    const endpoints = document.endpoints.map((endpoint, index) => {
        if (!dropped.has(index) || endpoint.response?.schema === undefined) return endpoint;
        notCarried.push({
            where: `${whereOf(endpoint.name)}, schema of the response`,
            why: 'With this schema, the package would be too large to publish.',
            scope: 'part',
        });
        const { schema: _schema, ...response } = endpoint.response;
        return { ...endpoint, response };
    });
    return { ...document, endpoints };
}

/** Names the further packages of a document: a unique label, made of the tag, before the site's name. */
function createSiteNames(site: string): (tag: string) => string {
    const taken = new Set(['www']);
    return (tag) => {
        const words = tag
            .normalize('NFKD')
            .toLowerCase()
            .replaceAll(/[^a-z0-9]+/g, '-')
            .slice(0, 40)
            .replaceAll(/^-+|-+$/g, '');
        const plain = words === '' || /^\d+$/.test(words) || words.startsWith('xn--') ? `part${words === '' ? '' : `-${words}`}` : words;
        let label = plain;
        for (let count = 2; taken.has(label); count++) label = `${plain}-${count}`;
        taken.add(label);
        return `${label}.${site}`;
    };
}
