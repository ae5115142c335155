import { deleteClaim, getClaims, postClaim, postClaimCheck } from '../../shared/contracts/claims.ts';
import { getPolicy, putPolicy } from '../../shared/contracts/site-policy.ts';
import { inTurn } from '../admission/writes.ts';
import { serve } from '../serve.ts';
import { checkClaim } from './check-claim.ts';
import { createClaim, deleteClaim as deleteOne, listClaims } from './claims.ts';
import { changePolicy, showPolicy } from './site-policy.ts';

export const claimRoutes = [
    serve(postClaim, inTurn(createClaim)),
    serve(getClaims, listClaims),
    serve(postClaimCheck, checkClaim),
    serve(deleteClaim, deleteOne),
    serve(getPolicy, showPolicy),
    serve(putPolicy, changePolicy),
];
