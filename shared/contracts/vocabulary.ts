import Joi from 'joi';
import { KINDS, METHODS, SOURCES } from '../domain/types.ts';

/** Words of the wire that several contracts share. */

/** RFC 3339 in UTC with milliseconds. */
export const time = () =>
    Joi.string()
        .pattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
        .description('RFC 3339 in UTC with milliseconds');
export const nullableTime = () => time().allow(null);

/** A site as a caller writes it; it is normalised, and judged as a domain, after the shape is right. */
export const siteInput = () => Joi.string().min(1).max(1024).description('A domain name, such as shop.example.com');
export const siteName = () => Joi.string().description('The normalised domain');

export const kind = () => Joi.string().valid(...KINDS);
export const method = () => Joi.string().valid(...METHODS);
export const source = () => Joi.string().valid(...SOURCES);
export const effect = () => Joi.string().valid('read', 'write');
export const versionNumber = () => Joi.number().integer().min(1);
export const versionHash = () =>
    Joi.string()
        .pattern(/^[0-9a-f]{64}$/)
        .description('SHA-256 over the canonical JSON of the package');
export const requestId = () => Joi.string().pattern(/^[A-Za-z0-9_-]{1,64}$/);
export const count = () => Joi.number().integer().min(0);

/** Traffic's word on an endpoint or a site; nulls before there is any. */
export interface Health {
    success_rate_7d: number | null;
    p95_ms: number | null;
    last_success_at: string | null;
}

export const health = () =>
    Joi.object<Health, true>({
        success_rate_7d: Joi.number().min(0).max(1).allow(null).required(),
        p95_ms: count().allow(null).required(),
        last_success_at: nullableTime().required(),
    });

/** Any JSON value; the input guard has bounded it before. */
export const anyJson = () => Joi.any();
export const jsonObject = () => Joi.object().unknown(true);
