import * as contracts from '../../shared/contracts/webhooks.ts';
import { audited, countInWindow } from '../admission/count-in-window.ts';
import { changing } from '../admission/writes.ts';
import { type Call, type Reply, serve } from '../serve.ts';
import { addWebhook } from './add-webhook.ts';
import { changeOne } from './change-webhook.ts';
import { listSent, sendAgain, sendTest } from './deliveries.ts';
import { deleteOne, listMine, readOne, rotateOne } from './webhooks.ts';

export const webhookRoutes = [
    serve(contracts.postWebhook, audited(changing(addWebhook))),
    serve(contracts.getWebhooks, counted(listMine)),
    serve(contracts.getWebhook, counted(readOne)),
    serve(contracts.patchWebhook, audited(changing(changeOne))),
    serve(contracts.deleteWebhook, audited(changing(deleteOne))),
    serve(contracts.postWebhookRotate, audited(changing(rotateOne))),
    serve(contracts.postWebhookTest, counted(changing(sendTest))),
    serve(contracts.getDeliveries, counted(listSent)),
    serve(contracts.postRedeliver, counted(changing(sendAgain))),
];

/** Counts other webhook calls in the `reads` rate limit, since they are cheap and rare. */
function counted<Params, Query, Body, Answer>(respond: (call: Call<Params, Query, Body>) => Promise<Reply<Answer>>) {
    return async (call: Call<Params, Query, Body>): Promise<Reply<Answer>> => {
        await countInWindow(call, 'reads');
        return respond(call);
    };
}
