import Joi, { type CustomHelpers, type ErrorReport } from 'joi';
import { findSecrets } from '../domain/package/secrets-scan.ts';
import { isCategory, nearCategories } from '../domain/package/taxonomy.ts';
import { CLAIMS } from '../domain/site/claim.ts';
import {
    AUTH_NEEDS,
    AUTH_TYPES,
    BODY_FORMATS,
    KINDS,
    METHODS,
    OAUTH_FLOWS,
    type PackageAuth,
    type PackageOAuth,
    SOURCES,
    STYLES,
} from '../domain/types.ts';

/** Schemas that several contracts share. */

/** An object whose fields are always there, such as an answer and the params of a path, unless they are `.optional()`. */
export function complete(fields: Joi.SchemaMap): Joi.ObjectSchema;
export function complete<T>(fields: Joi.StrictSchemaMap<T>): Joi.ObjectSchema<T>;
export function complete(fields: Joi.SchemaMap): Joi.ObjectSchema {
    const all = Object.entries(fields as Record<string, Joi.Schema | Joi.SchemaMap>).map(([name, field]): [string, Joi.Schema] => {
        const schema = Joi.isSchema(field) ? field : complete(field);
        return [name, schema.$_getFlag('presence') === 'optional' ? schema : schema.required()];
    });
    return Joi.object(Object.fromEntries(all));
}

/** An id such as `job_…`. @param prefix `job` */
export const id = (prefix: string) => Joi.string().description(`${prefix}_…`);

export const oneOf = (values: readonly string[]) => Joi.string().valid(...values);

/** RFC 3339 in UTC with milliseconds. */
export const time = () =>
    Joi.string()
        .pattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
        .description('RFC 3339 in UTC with milliseconds');
export const nullableTime = () => time().allow(null);

/** A site as a caller writes it. The route normalises it and validates the domain after this check. */
export const siteInput = () => Joi.string().min(1).max(1024).description('A domain name, such as shop.example.com');
export const siteName = () => Joi.string().description('The normalised domain');

export const claim = () =>
    oneOf(CLAIMS).description('owner: a proved owner of the site; operator: the operator of this service; unproven: any other contributor');
export const hosts = () => texts().description('Names of all hosts that the package calls, sorted');
export const kind = () => oneOf(KINDS);
export const method = () => oneOf(METHODS);
export const source = () => oneOf(SOURCES);
export const style = () => oneOf(STYLES).description('How a list or an object is serialized; repeat by default');
export const bodyFormat = () => oneOf(BODY_FORMATS);
export const authNeed = () => oneOf(AUTH_NEEDS).description('Whether a call uses a connection: your own credential for the site');
const oauth = () =>
    Joi.object<PackageOAuth, true>({
        authorization_url: Joi.string(),
        token_url: Joi.string().required(),
        revocation_url: Joi.string(),
        scopes: Joi.array().items(
            Joi.object<NonNullable<PackageOAuth['scopes']>[number], true>({
                name: Joi.string().required(),
                description: Joi.string().allow(''),
            }),
        ),
        pkce: Joi.boolean(),
        flows: listOf(oneOf(OAUTH_FLOWS)),
    });
/** How a site accepts credentials, as its package defines it. */
export const auth = () =>
    objects<PackageAuth>({
        id: Joi.string(),
        type: oneOf(AUTH_TYPES),
        name: Joi.string().description('Name of the header, query parameter or cookie').optional(),
        prefix: Joi.string().description('Text before the value in a header').optional(),
        description: Joi.string().allow('').optional(),
        obtain_url: Joi.string().description('Where to get a credential').optional(),
        test: Joi.string().description('The endpoint that tests a credential').optional(),
        hosts: texts().description('The hosts that receive it; by default all hosts of the package').optional(),
        oauth2: oauth().description('For type oauth2: how tokens are obtained').optional(),
    }).description('How the site accepts credentials of callers; empty if it accepts none');
export const effect = () => Joi.string().valid('read', 'write');
export const versionNumber = () => Joi.number().integer().min(1);
export const versionHash = () =>
    Joi.string()
        .pattern(/^[0-9a-f]{64}$/, 'the hash of a version, 64 hexadecimal digits in lower case')
        .description('SHA-256 over the canonical JSON of the package');
export const requestId = () => Joi.string().pattern(/^[A-Za-z0-9_-]{1,64}$/);
export const integer = (min: number, max: number) => Joi.number().integer().min(min).max(max);
export const count = () => Joi.number().integer().min(0);

/** Health of an endpoint or a site, from traffic; nulls without traffic. */
export interface Health {
    success_rate_7d: number | null;
    p95_ms: number | null;
    last_success_at: string | null;
}

export const health = () =>
    complete<Health>({
        success_rate_7d: Joi.number().min(0).max(1).allow(null),
        p95_ms: count().allow(null),
        last_success_at: nullableTime(),
    });

export interface PageQuery {
    limit?: number;
    cursor?: string;
}

export const limit = () => integer(1, 100).default(20).description('Maximum number of rows per page');
/** A cursor. An invalid one is INVALID_CURSOR, not VALIDATION_ERROR. */
export const cursor = () => Joi.string().allow('').description('next_cursor of the previous page of the same query');
export const pageQuery = () => Joi.object<PageQuery, true>({ limit: limit(), cursor: cursor() });

/** A category of GET /v1/categories: `parent` or `parent/child`. */
export const category = () =>
    Joi.string()
        .custom((path: string, { error }) => (isCategory(path) ? path : error('category.unknown', { hint: meant(path) })))
        .messages({ 'category.unknown': '{{#label}} is not a category;{{#hint}} GET /v1/categories lists them as parent/child' })
        .description('parent or parent/child, as GET /v1/categories lists them');

function meant(path: string): string {
    const near = nearCategories(path);
    return near.length === 0 ? '' : ` did you mean ${near.join(' or ')}?`;
}

/** A text of at most `max` Unicode code points. Joi's own `max` counts an emoji twice. */
export const characters = (max: number) =>
    Joi.string()
        .pattern(new RegExp(`^[\\s\\S]{0,${max}}$`, 'u'))
        .messages({ 'string.pattern.base': `{{#label}} must have at most ${max} characters` });

/** A text that others may read, of one line unless `lines`. Counts code points of the trimmed text. Secrets are never repeated. */
export function publicText(minLength: number, maxLength: number, { lines = false }: { lines?: boolean } = {}) {
    const any = lines ? '[\\s\\S]' : '[^\\t\\n]';
    const pattern = minLength === 1 ? `\\S(${any}{0,${maxLength - 2}}\\S)?` : `\\S${any}{${minLength - 2},${maxLength - 2}}\\S`;
    return Joi.string()
        .pattern(new RegExp(`^\\s*${pattern}\\s*$`, 'u'))
        .custom(refuseSecrets)
        .messages({
            'string.empty': '{{#label}} is empty',
            'string.pattern.base': `{{#label}} must have ${minLength} to ${maxLength} characters${lines ? '' : ', in one line'}`,
            'text.secret': SECRET_WORDS,
        });
}

/** The answer to DELETE. */
export type Deleted<Id extends string> = Readonly<Record<Id, string>> & { deleted: true };

export const deleted = <Id extends string>(name: Id, id = Joi.string()) =>
    complete({ [name]: id, deleted: Joi.boolean().valid(true) }) as Joi.ObjectSchema<Deleted<Id>>;

export const listOf = <Item>(item: Joi.Schema<Item>) => Joi.array<Item[]>().items(item);
/** A list of objects, each as `complete` describes it. */
export function objects(fields: Joi.SchemaMap): Joi.ArraySchema;
export function objects<T>(fields: Joi.StrictSchemaMap<T>): Joi.ArraySchema<T[]>;
export function objects(fields: Joi.SchemaMap): Joi.ArraySchema {
    return listOf(complete(fields));
}
export const texts = () => listOf(Joi.string());

/** Any JSON value; the input guard has already bounded it. */
export const anyJson = () => Joi.any();
export const jsonObject = () => Joi.object().unknown(true);

const WEB_ADDRESS = /^\s*[Hh][Tt][Tt][Pp][Ss]?:\/\/[^\s/?#\\]\S{0,2039}\s*$/u;

/** An http or https URL. Opening a link with another scheme, such as `javascript:`, could run code. */
export function webAddress() {
    return Joi.string()
        .pattern(WEB_ADDRESS)
        .custom((text: string, { error }) => (WEB_ADDRESS.test(text) && !URL.canParse(text.trim()) ? error('string.pattern.base') : text))
        .custom(refuseSecrets)
        .messages({
            'string.empty': '{{#label}} is empty',
            'string.pattern.base': '{{#label}} must be a URL of at most 2048 characters that begins with http:// or https://',
            'text.secret': SECRET_WORDS,
        });
}

const SECRET_WORDS = '{{#label}} looks like {{#kind}}: leave it out, and revoke it if it was real';

function refuseSecrets(text: string, { error }: CustomHelpers): string | ErrorReport {
    const secret = findSecrets(text);
    return secret === undefined ? text : error('text.secret', { kind: secret.kind });
}
