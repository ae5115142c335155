/** The guard between the workers and every foreign site (docs/api.md, "Addresses"): what is judged, who dials, and the agents that Node's client uses. */
export { type AddressKind, classifyAddress } from './egress/addresses.ts';
export { GuardedAgent, type HandOver } from './egress/agent.ts';
export { createConnector, type EgressConnector, EgressDenied, type Target } from './egress/connector.ts';
export { createLookup, type Lookup } from './egress/resolver.ts';
export { type DialVerdict, type EgressRules, judgeDial, judgeUrl, portOf, type Scheme, type UrlVerdict } from './egress/rules.ts';
