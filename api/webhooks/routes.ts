import * as contracts from '../../shared/contracts/webhooks.ts';
import { audited, countedIn } from '../admission/count-in-window.ts';
import { inTurn } from '../admission/writes.ts';
import { serve } from '../serve.ts';
import { listSent, sendAgain, sendTest } from './deliveries.ts';
import { deleteOne, listMine, readOne, rotateOne } from './webhooks.ts';
import { addWebhook, changeOne } from './write-webhooks.ts';

/** Reads, tests and deletions count as `reads`, since they are cheap and rare. */
export const webhookRoutes = [
    serve(contracts.postWebhook, audited(inTurn(addWebhook))),
    serve(contracts.getWebhooks, countedIn('reads', listMine)),
    serve(contracts.getWebhook, countedIn('reads', readOne)),
    serve(contracts.patchWebhook, audited(inTurn(changeOne))),
    serve(contracts.deleteWebhook, audited(inTurn(deleteOne))),
    serve(contracts.postWebhookRotate, audited(inTurn(rotateOne))),
    serve(contracts.postWebhookTest, countedIn('reads', inTurn(sendTest))),
    serve(contracts.getDeliveries, countedIn('reads', listSent)),
    serve(contracts.postRedeliver, countedIn('reads', inTurn(sendAgain))),
];
