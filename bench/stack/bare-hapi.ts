import hapi from '@hapi/hapi';
import Joi from 'joi';

/** For comparison: a route of the same framework that validates a body like a fetch's and answers. A separate process; prints its port. */
const server = hapi.server({ port: 0, host: '127.0.0.1', debug: false });
const body = Joi.object({
    site: Joi.string().max(253).required(),
    endpoint: Joi.string().max(64).required(),
    params: Joi.object().unknown(true),
    timeout_ms: Joi.number().integer().min(1000).max(120_000),
});
server.route({
    method: 'POST',
    path: '/v1/fetch',
    options: { validate: { payload: body, options: { abortEarly: false, convert: false } } },
    handler: (request) => ({ success: true, data: request.payload }),
});
await server.start();
process.stdout.write(`port ${server.info.port}\n`);
process.once('SIGTERM', () => process.exit(0));
