import { defineError } from '@terrane/core'

/** The file is not a graph file, or of another version. */
export const notAGraph = defineError<{ reason: string }>(
  'NOT_A_GRAPH',
  'invalid',
  ({ reason }) => `This is not a routing graph: ${reason}.`,
  () => ({ hint: 'Build the graph again from its extracts.' }),
)

/** The extracts have no way that any mode may travel. */
export const emptyNetwork = defineError<{ sources: string }>(
  'EMPTY_NETWORK',
  'invalid',
  ({ sources }) => `No street or path was found in ${sources}.`,
  () => ({ hint: 'Check that the extract holds ways with a highway tag and the nodes they refer to.' }),
)

/** A street has more points than the graph can address. */
export const streetTooLong = defineError<{ points: number; most: number }>(
  'STREET_TOO_LONG',
  'invalid',
  ({ points, most }) => `A street has ${points} points between two crossings; the limit is ${most}.`,
  () => ({ hint: 'Cut its way in the extract: OpenStreetMap itself allows 2,000 nodes.' }),
)

/** A graph file could not be mapped into memory. */
export const mappingFailed = defineError<{ reason: string }>(
  'MAPPING_FAILED',
  'not_implemented',
  ({ reason }) => `The graph file cannot be mapped into memory: ${reason}.`,
  () => ({ hint: 'Install the optional package koffi, or read the file with readNetworkFile.' }),
)
