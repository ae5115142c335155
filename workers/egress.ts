/** The guard between the workers and foreign sites (docs/api.md, "Addresses"): checks, connections, and the agents for Node's client. */
export { type AddressKind, classifyAddress } from './egress/addresses.ts';
export { GuardedAgent, type HandOver } from './egress/agent.ts';
export { answerHead, MAX_INTERIM, NoAnswer } from './egress/answer-head.ts';
export { createConnector, type EgressConnector, EgressDenied, type Target } from './egress/connector.ts';
export { createLookup, type Lookup } from './egress/resolver.ts';
export {
    checkDial,
    checkUrl,
    type DialVerdict,
    type EgressRules,
    egressRules,
    portOf,
    type Scheme,
    type UrlVerdict,
} from './egress/rules.ts';
