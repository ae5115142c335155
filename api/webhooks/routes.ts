import * as contracts from '../../shared/contracts/webhooks.ts';
import { inSteps, inTurn } from '../admission/writes.ts';
import { serve } from '../serve.ts';
import { listDeliveries, redeliver, sendTest } from './deliveries.ts';
import { deleteWebhook, listWebhooks, readWebhook, rotateWebhook } from './webhooks.ts';
import { addWebhook, changeWebhook } from './write-webhooks.ts';

/** Reads, tests and deletions count as `reads`, since they are cheap and rare. */
export const webhookRoutes = [
    serve(contracts.postWebhook, inTurn(addWebhook)),
    serve(contracts.getWebhooks, listWebhooks),
    serve(contracts.getWebhook, readWebhook),
    serve(contracts.patchWebhook, inSteps(changeWebhook)),
    serve(contracts.deleteWebhook, inSteps(deleteWebhook)),
    serve(contracts.postWebhookRotate, inTurn(rotateWebhook)),
    serve(contracts.postWebhookTest, inSteps(sendTest)),
    serve(contracts.getDeliveries, listDeliveries),
    serve(contracts.postRedeliver, inSteps(redeliver)),
];
