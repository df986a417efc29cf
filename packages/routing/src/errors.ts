import { defineError } from '@terrane/core'

/** The graph file is not one, or not one of this version. */
export const notAGraph = defineError<{ reason: string }>(
  'NOT_A_GRAPH',
  'invalid',
  ({ reason }) => `This is no routing graph: ${reason}.`,
  () => ({ hint: 'Build the graph again from its extracts.' }),
)

/** The extracts hold no way that anybody may travel. */
export const emptyNetwork = defineError<{ sources: string }>(
  'EMPTY_NETWORK',
  'invalid',
  ({ sources }) => `No street or path was found in ${sources}.`,
  () => ({ hint: 'Check that the extract holds ways with a highway tag and the nodes they refer to.' }),
)
