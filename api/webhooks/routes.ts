import * as contracts from '../../shared/contracts/webhooks.ts';
import { inTurn } from '../admission/writes.ts';
import { serve } from '../serve.ts';
import { listDeliveries, redeliver, sendTest } from './deliveries.ts';
import { deleteWebhook, listWebhooks, readWebhook, rotateWebhook } from './webhooks.ts';
import { addWebhook, changeWebhook } from './write-webhooks.ts';

/** Reads, tests and deletions count as `reads`, since they are cheap and rare. */
export const webhookRoutes = [
    serve(contracts.postWebhook, inTurn(addWebhook)),
    serve(contracts.getWebhooks, listWebhooks),
    serve(contracts.getWebhook, readWebhook),
    serve(contracts.patchWebhook, inTurn(changeWebhook)),
    serve(contracts.deleteWebhook, inTurn(deleteWebhook)),
    serve(contracts.postWebhookRotate, inTurn(rotateWebhook)),
    serve(contracts.postWebhookTest, inTurn(sendTest)),
    serve(contracts.getDeliveries, listDeliveries),
    serve(contracts.postRedeliver, inTurn(redeliver)),
];
