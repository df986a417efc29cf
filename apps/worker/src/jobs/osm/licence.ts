/** Attribution that must be shown with OpenStreetMap data and everything made of them. */
export const OSM_ATTRIBUTION = '© OpenStreetMap contributors'
export const OSM_LICENCE = 'ODbL-1.0'
export const OSM_COPYRIGHT = 'https://www.openstreetmap.org/copyright'
