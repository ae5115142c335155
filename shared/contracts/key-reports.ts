import Joi from 'joi';
import { contract } from './contract.ts';
import * as v from './vocabulary.ts';

/** A finding of a secret scanner, in GitHub's format. */
export interface KeyFinding {
    token: string;
    type?: string;
    url?: string;
    source?: string;
}

export type KeyReport = KeyFinding[] | { keys: string[] };

export interface KeyReportEntry {
    token_hash: string;
    token_type?: string;
    label: 'true_positive' | 'false_positive';
}

const MAX_KEYS = 100;
const token = () => Joi.string().min(1).max(1000);

export const postKeyReport = contract('postKeyReport', 'POST /v1/keys/report', {
    tag: 'Account',
    summary: 'Report leaked API keys',
    description: `For secret scanners: GitHub's partner format, or \`{"keys": […]}\`, with up to ${MAX_KEYS} keys. The complete key is the proof: a known key is revoked within a second, and its owner gets an email. Needs no API key. An address can send 60 reports a minute.`,
    auth: 'ignored',
    scope: 'none',
    body: {
        schema: Joi.alternatives()
            .conditional(Joi.array(), {
                // biome-ignore lint/suspicious/noThenProperty: Joi's name. Problems are reported at their own places.
                then: Joi.array()
                    .items(
                        Joi.object({
                            token: token().required(),
                            type: Joi.string().max(200),
                            url: Joi.string().allow('').max(4000),
                            source: Joi.string().allow('').max(200),
                        }).unknown(true),
                    )
                    .min(1)
                    .max(MAX_KEYS),
                otherwise: Joi.object({ keys: Joi.array().items(token()).min(1).max(MAX_KEYS).required() }),
            })
            .required() as Joi.AlternativesSchema<KeyReport>,
        maxBytes: 256 * 1024,
    },
    answer: {
        shape: 'whole',
        schema: () =>
            v.objects<KeyReportEntry>({
                token_hash: Joi.string().description('SHA-256 of the key, in base64'),
                token_type: Joi.string().description('As reported').optional(),
                label: Joi.string().valid('true_positive', 'false_positive').description('Whether it is a Routebook key'),
            }),
    },
    refusals: ['RATE_LIMITED'],
});
