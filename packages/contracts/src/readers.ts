import { Type } from 'typebox'

/** Fields for the owner and the readers of a new table. @param defaults texts about the defaults */
export const readers = (
  defaults = { ownerUuid: 'the service role', isPublic: 'true without ownerUuid, false with it' },
) => ({
  ownerUuid: Type.Optional(
    Type.Union([Type.String({ pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' }), Type.Null()], {
      description: `User who owns the table. Default: ${defaults.ownerUuid}.`,
    }),
  ),
  isPublic: Type.Optional(
    Type.Boolean({
      description:
        'true: anon and authenticated read the table; false: only its owner and the service role. ' +
        `Default: ${defaults.isPublic}.`,
    }),
  ),
})
