import type { Command } from 'commander';
import type { Run } from '../session.ts';
import { addAccountCommands } from './account.ts';
import { addAgentCommands } from './agents.ts';
import { addAuthoringCommands } from './authoring.ts';
import { addBatchCommands } from './batches.ts';
import { addCallingCommands } from './calling.ts';
import { addConnectionCommands } from './connections.ts';
import { addMonitorCommands } from './monitors.ts';
import { addOwnerCommands } from './owners.ts';
import { addRegistryCommands } from './registry.ts';
import { addWebhookCommands } from './webhooks.ts';

/** Adds every command, in the order of the help. */
export function addAllCommands(program: Command, run: Run): void {
    addAccountCommands(program, run);
    addCallingCommands(program, run);
    addBatchCommands(program, run);
    addConnectionCommands(program, run);
    addMonitorCommands(program, run);
    addWebhookCommands(program, run);
    addRegistryCommands(program, run);
    addAuthoringCommands(program, run);
    addOwnerCommands(program, run);
    addAgentCommands(program, run);
}
