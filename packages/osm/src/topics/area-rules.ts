import type { Match } from './match.ts'

/**
 * Which closed ways are areas when their tags do not say `area=yes` or `area=no`: the keys that describe a surface, and of
 * keys that describe both lines and surfaces the values that tell. Roads and barriers that close stay lines.
 */
export const AREA_RULES: Match = {
  building: '*',
  'building:part': '*',
  landuse: '*',
  amenity: '*',
  shop: '*',
  tourism: '*',
  office: '*',
  historic: '*',
  craft: '*',
  healthcare: '*',
  place: '*',
  boundary: '*',
  military: '*',
  ruins: '*',
  public_transport: '*',
  'area:highway': '*',
  harbour: '*',
  sport: '*',
  geological: '*',
  golf: '*',
  emergency: '*',
  'addr:housenumber': '*',
  'addr:housename': '*',
  water: '*',
  wetland: '*',
  leisure: { except: ['track', 'slipway'] },
  natural: { except: ['coastline', 'cliff', 'ridge', 'arete', 'tree_row', 'gully', 'earth_bank'] },
  man_made: { except: ['cutline', 'embankment', 'pipeline', 'dyke', 'groyne', 'breakwater'] },
  aeroway: { except: ['taxiway', 'jet_bridge', 'parking_position'] },
  power: ['plant', 'substation', 'generator', 'transformer'],
  waterway: ['riverbank', 'dock', 'boatyard', 'dam', 'fuel'],
  railway: ['station', 'turntable', 'roundhouse', 'platform', 'traverser', 'wash'],
  aerialway: ['station'],
  highway: ['rest_area', 'services', 'platform'],
}

/** Types of relations whose members are the border of an area. */
export const AREA_RELATIONS: readonly string[] = ['multipolygon', 'boundary']
