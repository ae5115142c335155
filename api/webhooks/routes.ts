import * as contracts from '../../shared/contracts/webhooks.ts';
import { serve } from '../serve.ts';
import { addWebhook } from './add-webhook.ts';
import { changeOne } from './change-webhook.ts';
import { listSent, sendAgain, sendTest } from './deliveries.ts';
import { deleteOne, listMine, readOne, rotateOne } from './webhooks.ts';

export const webhookRoutes = [
    serve(contracts.postWebhook, addWebhook),
    serve(contracts.getWebhooks, listMine),
    serve(contracts.getWebhook, readOne),
    serve(contracts.patchWebhook, changeOne),
    serve(contracts.deleteWebhook, deleteOne),
    serve(contracts.postWebhookRotate, rotateOne),
    serve(contracts.postWebhookTest, sendTest),
    serve(contracts.getDeliveries, listSent),
    serve(contracts.postRedeliver, sendAgain),
];
