import * as contracts from '../../shared/contracts/webhooks.ts';
import { audited, countInWindow } from '../admission/count-in-window.ts';
import { inTurn } from '../admission/writes.ts';
import type { Call, Reply } from '../call.ts';
import { serve } from '../serve.ts';
import { listSent, sendAgain, sendTest } from './deliveries.ts';
import { deleteOne, listMine, readOne, rotateOne } from './webhooks.ts';
import { addWebhook, changeOne } from './write-webhooks.ts';

export const webhookRoutes = [
    serve(contracts.postWebhook, audited(inTurn(addWebhook))),
    serve(contracts.getWebhooks, counted(listMine)),
    serve(contracts.getWebhook, counted(readOne)),
    serve(contracts.patchWebhook, audited(inTurn(changeOne))),
    serve(contracts.deleteWebhook, audited(inTurn(deleteOne))),
    serve(contracts.postWebhookRotate, audited(inTurn(rotateOne))),
    serve(contracts.postWebhookTest, counted(inTurn(sendTest))),
    serve(contracts.getDeliveries, counted(listSent)),
    serve(contracts.postRedeliver, counted(inTurn(sendAgain))),
];

/** Counts other webhook calls in the `reads` rate limit, since they are cheap and rare. */
function counted<Params, Query, Body, Answer>(respond: (call: Call<Params, Query, Body>) => Promise<Reply<Answer>>) {
    return async (call: Call<Params, Query, Body>): Promise<Reply<Answer>> => {
        await countInWindow(call, 'reads');
        return respond(call);
    };
}
