/** What must be said wherever OpenStreetMap data, or what was made of them, are shown. */
export const OSM_ATTRIBUTION = '© OpenStreetMap contributors'
export const OSM_LICENCE = 'ODbL-1.0'
export const OSM_COPYRIGHT = 'https://www.openstreetmap.org/copyright'
