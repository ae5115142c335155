import Joi from 'joi';
import { EFFECTS, ROUTE_SCOPES } from '../domain/accounts/scopes.ts';

const names = () => Joi.array().items(Joi.string()).allow(null);

export const scopes = () =>
    Joi.object({
        effects: Joi.array()
            .items(Joi.string().valid(...EFFECTS))
            .required(),
        sites: names().required().description('Exact names; null: all'),
        endpoints: names().required().description('Names of endpoints; null: all'),
        connections: names().required().description('Ids; null: all; empty: none'),
        routes: Joi.array()
            .items(Joi.string().valid(...ROUTE_SCOPES))
            .required(),
        ip_allow: names().required().description('Addresses and CIDR ranges that may use the key; null: all'),
    });
