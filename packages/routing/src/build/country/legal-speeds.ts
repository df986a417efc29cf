import table from './legal-speeds.json' with { type: 'json' }

/**
 * Legal speeds in km/h without signs; zero when there is no limit or it is unknown. The figures are facts from
 * OpenStreetMap's wiki, page Default speed limits (CC BY-SA 2.0), revision 2607051 of 2023, from
 * `osm-legal-default-speeds`; lorries are those above 12 t.
 */
export interface LegalSpeeds {
  readonly urban: number
  readonly rural: number
  readonly motorway: number
  readonly livingStreet: number
  readonly truckRural: number
  readonly truckMotorway: number
}

/** The legal speeds of a country by its code; null when unknown. */
export function legalSpeeds(code: string | null): LegalSpeeds | null {
  return SPEEDS.get(code ?? '') ?? null
}

const SPEEDS: ReadonlyMap<string, LegalSpeeds> = new Map(
  Object.entries(table).map(([code, [urban, rural, motorway, livingStreet, truckRural, truckMotorway]]) => [
    code,
    {
      urban: urban!,
      rural: rural!,
      motorway: motorway!,
      livingStreet: livingStreet!,
      truckRural: truckRural!,
      truckMotorway: truckMotorway!,
    },
  ]),
)
