import { deleteClaim, getClaims, postClaim, postClaimCheck } from '../../shared/contracts/claims.ts';
import { serve } from '../serve.ts';
import { checkClaim } from './check-claim.ts';
import { createClaim, deleteClaim as deleteOne, listClaims } from './claims.ts';

export const claimRoutes = [
    serve(postClaim, createClaim),
    serve(getClaims, listClaims),
    serve(postClaimCheck, checkClaim),
    serve(deleteClaim, deleteOne),
];
