/** The guard between the workers and foreign sites (docs/api.md, "Addresses"): checks, connections, and the agents for Node's client. */
export { classifyAddress } from './egress/addresses.ts';
export { type Agents, createAgents, GuardedAgent, type HandOver } from './egress/agent.ts';
export { answerHead, MAX_INTERIM, NoAnswer } from './egress/answer-head.ts';
export { createConnector, type EgressConnector, EgressDenied, type Target } from './egress/connector.ts';
export { createLookup } from './egress/resolver.ts';
export { checkDial, checkUrl, type EgressRules, egressRules, mayCarrySecrets, type UrlVerdict } from './egress/rules.ts';
