import { defineError } from '@terrane/core'

/** Why a credential was refused; the text never repeats the credential. */
export type RefusalReason =
  | 'missing'
  | 'malformed'
  | 'unknown'
  | 'expired'
  | 'revoked'
  | 'signature'
  | 'algorithm'
  | 'project'
  | 'audience'
  | 'publishable'
  | 'unpublishable'

const REASONS: Record<RefusalReason, string> = {
  missing: 'No key was sent',
  malformed: 'The key is malformed',
  unknown: 'The key is not known',
  expired: 'The key or token has expired',
  revoked: 'The key was revoked',
  signature: 'The signature of the token is not valid',
  algorithm: 'The algorithm of the token is not accepted',
  project: 'The token belongs to another project',
  audience: 'The token is meant for another audience',
  publishable: 'A publishable key is only accepted in URLs of tiles',
  unpublishable: 'Only a publishable key is accepted in a URL',
}

export const unauthorized = defineError(
  'UNAUTHORIZED',
  'unauthenticated',
  (f: { reason: RefusalReason; header?: string }) => `${REASONS[f.reason]}${f.header ? ` (${f.header})` : ''}`,
)

export const headersDisagree = defineError(
  'UNAUTHORIZED',
  'unauthenticated',
  () => 'The apikey header and the Authorization header carry different keys',
  () => ({ hint: 'Send the same key as `apikey: <KEY>` and as `Authorization: Bearer <KEY>`.' }),
)

export const forbidden = defineError(
  'FORBIDDEN',
  'forbidden',
  (f: { need: string }) => `This key may not do that: ${f.need} is needed`,
)
