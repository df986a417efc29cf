import type { KeyFilter } from './style.ts'
import rules from './styles/area-rules.json' with { type: 'json' }

/**
 * Which closed ways are areas when their tags do not say `area=yes` or `area=no`: the keys that describe a surface, and
 * for keys of both lines and surfaces, the values that mean a surface. Roads and barriers that close stay lines.
 */
export const AREA_RULES: readonly KeyFilter[] = rules

/** Types of relations whose members are the border of an area. */
export const AREA_RELATIONS: readonly string[] = ['multipolygon', 'boundary']
