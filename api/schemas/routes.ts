import { getPackage, getSchema, postSchema } from '../../shared/contracts/schemas.ts';
import { serve } from '../serve.ts';
import { downloadPackage } from './download-package.ts';
import { publishSchema } from './publish-schema.ts';
import { readCard } from './read-card.ts';

export const schemaRoutes = [
    serve(postSchema, publishSchema),
    serve(getSchema, async (call) => ({ answer: await readCard(call) })),
    serve(getPackage, async (call) => ({ answer: await downloadPackage(call) })),
];
