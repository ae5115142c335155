import { bindParams } from '../domain/fetch/bind-params.ts';
import { createParamJudge } from '../domain/fetch/judge-params.ts';
import type { Endpoint, JsonObject } from '../domain/types.ts';
import { BESIDE_THE_LOOP, lowerThreadPriority } from '../platform/low-priority.ts';
import { answerTasks } from '../platform/side-thread.ts';

lowerThreadPriority(BESIDE_THE_LOOP);
answerTasks(({ endpoint, params }: { endpoint: Endpoint; params: JsonObject }) => bindParams(endpoint, params, createParamJudge()));
