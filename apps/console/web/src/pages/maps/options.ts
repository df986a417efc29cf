import type { VectorLayer } from '@terrane/map-style'
import type { Project } from '../../lib/project.ts'

/** Properties of a table that tiles carry, with their kinds. */
export type Fields = Readonly<Record<string, 'String' | 'Number' | 'Boolean'>>

export interface OptionsProps {
  readonly project: Project
  readonly layer: VectorLayer
  readonly fields: Fields
  readonly onChange: (layer: VectorLayer, key?: string) => void
}
