import { chooseEndpoints, type SiteTool, siteTools, type ToolChoice } from '../../shared/agents/site-tools.ts';
import { roundedNumbers } from '../../shared/domain/json/rounded-numbers.ts';
import { isObject } from '../../shared/domain/json/schema/structure.ts';
import { hasMoreValues } from '../../shared/domain/json/tokens.ts';
import { exportBruno } from '../../shared/domain/package/bruno-export.ts';
import { contentOf, type PackageContent, type PackageHead } from '../../shared/domain/package/content.ts';
import { comparePackages, type PackageChange } from '../../shared/domain/package/diff.ts';
import { readEndpoint } from '../../shared/domain/package/endpoint.ts';
import { exportOpenApi } from '../../shared/domain/package/openapi-export.ts';
import { exportPostman } from '../../shared/domain/package/postman-export.ts';
import { exportPython } from '../../shared/domain/package/python-export.ts';
import { MAX_VALUES, TOO_MANY_VALUES } from '../../shared/domain/package/rules/tree.ts';
import { checkPackage, type PackageWarning } from '../../shared/domain/package/rules.ts';
import { exportTools } from '../../shared/domain/package/tool-export.ts';
import { exportTypeScript } from '../../shared/domain/package/typescript-export.ts';
import { versionHash } from '../../shared/domain/package/version-hash.ts';
import { type EgressAllowEntry, isPortAllowed } from '../../shared/domain/site/egress-allow.ts';
import type { PackageDocument, PackageEndpoint } from '../../shared/domain/types.ts';
import type { Detail } from '../../shared/refusals.ts';
import type { EndpointHealth } from '../../shared/store/usage/traffic.ts';
import { type FormRead, readForm } from '../bodies/form.ts';
import { type Comparison, compareVersions } from './compare-versions.ts';
import { type CsvItems, type CsvOrder, itemsOfCsv } from './csv-items.ts';
import { type CatalogContext, presentEndpoints, writeEndpoints } from './present-endpoints.ts';

/** The tasks of the package threads, by name. Their duration grows with the size of the package. */
export interface PackageTasks {
    check: { task: { bytes: Uint8Array; allowed: readonly EgressAllowEntry[] }; answer: CheckedPackage };
    diffForPublish: { task: { before: string | undefined; after: string }; answer: PackageChange };
    diffForPage: { task: { before: string; after: string }; answer: Comparison };
    openapi: { task: { text: string; version: Parameters<typeof exportOpenApi>[1] }; answer: string };
    tools: { task: { text: string }; answer: string };
    siteTools: { task: { text: string; site: string; version: number; choice: ToolChoice; health: EndpointHealth }; answer: SiteTool[] };
    postman: { task: { text: string; about: Parameters<typeof exportPostman>[1] }; answer: string };
    bruno: { task: { text: string; about: Parameters<typeof exportBruno>[1] }; answer: string };
    typescript: { task: { text: string; version: Parameters<typeof exportTypeScript>[1] }; answer: string };
    python: { task: { text: string; version: Parameters<typeof exportPython>[1] }; answer: string };
    form: { task: { bytes: Uint8Array }; answer: FormRead };
    escapeSource: { task: { text: string; isStored: boolean }; answer: Uint8Array };
    rows: { task: CsvOrder & { maxRows: number }; answer: CsvItems };
    jsonErrorPosition: { task: { text: string }; answer: string };
    catalog: { task: { endpoints: string; context: CatalogContext }; answer: { endpoints: string; hidden: number } };
}

export type PackageTask = { [Name in keyof PackageTasks]: { name: Name } & PackageTasks[Name]['task'] }[keyof PackageTasks];

export type CheckedPackage =
    | ({ ok: true; document: PackageHead; hash: string; warnings: PackageWarning[] } & Omit<PackageContent, 'compare'>)
    | { ok: false; fault: 'INVALID_JSON' | 'NO_OBJECT' }
    | { ok: false; fault: 'SCHEMA_INVALID'; problems: Detail[] };

export function doPackageTask(task: PackageTask): unknown {
    switch (task.name) {
        case 'check':
            return check(task);
        case 'diffForPublish':
            return comparePackages(task.before === undefined ? undefined : parse(task.before), parse(task.after));
        case 'diffForPage':
            return compareVersions(parse(task.before), parse(task.after));
        case 'openapi':
            return JSON.stringify(exportOpenApi(parse(task.text), task.version));
        case 'tools':
            return JSON.stringify({ success: true, data: exportTools(parse(task.text)) });
        case 'siteTools':
            return offerTools(task);
        case 'postman':
            return JSON.stringify(exportPostman(parse(task.text), task.about));
        case 'bruno':
            return JSON.stringify(exportBruno(parse(task.text), task.about));
        case 'typescript':
            return JSON.stringify({ success: true, data: exportTypeScript(parse(task.text), task.version) });
        case 'python':
            return JSON.stringify({ success: true, data: exportPython(parse(task.text), task.version) });
        case 'form':
            return readForm(task.bytes);
        case 'escapeSource':
            return Buffer.from(escapeHtml(task.isStored ? JSON.stringify(parse(task.text), undefined, 2) : task.text));
        case 'rows':
            return itemsOfCsv(task, task.maxRows);
        case 'jsonErrorPosition':
            return jsonErrorPosition(task.text);
        case 'catalog':
            return catalogEndpoints(task);
    }
}

/** Maximum number of bytes of a catalog answer. Above this, its last endpoints are shown without result schemas and examples. */
const MAX_CATALOG_BYTES = 1024 * 1024;

/** The endpoints of a package as JSON for the catalog, best matches first. */
function catalogEndpoints({ endpoints: text, context }: PackageTasks['catalog']['task']): PackageTasks['catalog']['answer'] {
    const endpoints = JSON.parse(text) as PackageEndpoint[];
    const { endpoints: offered, hidden } = presentEndpoints(endpoints.map(readEndpoint), context);
    return { endpoints: writeEndpoints(offered, MAX_CATALOG_BYTES), hidden };
}

function offerTools({ text, choice, health, ...site }: PackageTasks['siteTools']['task']): SiteTool[] {
    return siteTools({ ...site, endpoints: chooseEndpoints(parse(text).endpoints.map(readEndpoint), choice, health) });
}

/** Checks a package and returns everything that publishing needs from it. */
function check({ bytes, allowed }: PackageTasks['check']['task']): CheckedPackage {
    // Reject bodies that would take too long to parse.
    if (hasMoreValues(bytes, MAX_VALUES))
        return { ok: false, fault: 'SCHEMA_INVALID', problems: [{ path: '', code: 'TOO_COMPLEX', message: TOO_MANY_VALUES }] };
    const read = readJson(bytes);
    if (read === undefined) return { ok: false, fault: 'INVALID_JSON' };
    if (!isObject(read.value)) return { ok: false, fault: 'NO_OBJECT' };
    const checked = checkPackage(read.value, {
        isPortAllowed: (port) => isPortAllowed(allowed, port),
        rounded: roundedNumbers(read.text),
    });
    if (!checked.ok) return { ok: false, fault: 'SCHEMA_INVALID', problems: checked.problems };
    const { document, warnings } = checked;
    const { endpoints: _endpoints, ...head } = document;
    const { compare: _compare, ...content } = contentOf(document);
    return { ok: true, document: head, ...content, hash: versionHash(document), warnings };
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escapeHtml(text: string): string {
    return text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}

/** The position of the error in the JSON, as words. The parser's own message would repeat the text. */
function jsonErrorPosition(text: string): string {
    try {
        JSON.parse(text);
        return '';
    } catch (error) {
        const [, line, column] = /line (\d+) column (\d+)/.exec(String(error)) ?? [];
        return line === undefined ? '' : `: look at line ${line}, column ${column}`;
    }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

function readJson(bytes: Uint8Array): { text: string; value: unknown } | undefined {
    try {
        const text = UTF8.decode(bytes);
        return { text, value: JSON.parse(text) };
    } catch {
        return undefined;
    }
}

function parse(text: string): PackageDocument {
    return JSON.parse(text) as PackageDocument;
}
