import * as contracts from '../../shared/contracts/webhooks.ts';
import { audited, countedIn } from '../admission/count-in-window.ts';
import { inTurn } from '../admission/writes.ts';
import { serve } from '../serve.ts';
import { listDeliveries, redeliver, sendTest } from './deliveries.ts';
import { deleteWebhook, listWebhooks, readWebhook, rotateWebhook } from './webhooks.ts';
import { addWebhook, changeWebhook } from './write-webhooks.ts';

/** Reads, tests and deletions count as `reads`, since they are cheap and rare. */
export const webhookRoutes = [
    serve(contracts.postWebhook, audited(inTurn(addWebhook))),
    serve(contracts.getWebhooks, countedIn('reads', listWebhooks)),
    serve(contracts.getWebhook, countedIn('reads', readWebhook)),
    serve(contracts.patchWebhook, audited(inTurn(changeWebhook))),
    serve(contracts.deleteWebhook, audited(inTurn(deleteWebhook))),
    serve(contracts.postWebhookRotate, audited(inTurn(rotateWebhook))),
    serve(contracts.postWebhookTest, countedIn('reads', inTurn(sendTest))),
    serve(contracts.getDeliveries, countedIn('reads', listDeliveries)),
    serve(contracts.postRedeliver, countedIn('reads', inTurn(redeliver))),
];
