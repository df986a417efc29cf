import type { JSX } from 'preact'

/** Stroke paths on a grid of 20 by 20. */
const PATHS = {
  alert:
    'M10 6.5v4.2M10 13.6v.1M8.8 3.2 2.2 14.8a1.4 1.4 0 0 0 1.2 2.1h13.2a1.4 1.4 0 0 0 1.2-2.1L11.2 3.2a1.4 1.4 0 0 0-2.4 0Z',
  archive: 'M3 7.5h14v8A1.5 1.5 0 0 1 15.5 17h-11A1.5 1.5 0 0 1 3 15.5v-8ZM2.5 3.5h15v4h-15zM8 11h4',
  arrive: 'M5 17.5V3.5M5 4h9.5l-2.3 3.3 2.3 3.2H5',
  back: 'M12 4.5 6.5 10l5.5 5.5',
  check: 'm4 10.5 4 4 8-9',
  chevrons: 'm6.5 7.5 3.5-3.5 3.5 3.5M6.5 12.5l3.5 3.5 3.5-3.5',
  close: 'm5 5 10 10M15 5 5 15',
  copy: 'M7 7h9.5v9.5H7zM13 7V3.5H3.5V13H7',
  down: 'M10 3.5v11M5 10l5 5 5-5',
  expand: 'M3 8V3h5M17 8V3h-5M3 12v5h5M17 12v5h-5',
  func: 'M3 16.5c3 1 4-.5 4.6-3.2L9.4 5.5c.6-2.5 2-3.4 4-2.5M5.5 8.5h7M12 12l4.5 5M16.5 12 12 17',
  grid: 'M3 3h6v6H3zM11 3h6v6h-6zM3 11h6v6H3zM11 11h6v6h-6z',
  grip: 'M7.5 5v.1M12.5 5v.1M7.5 10v.1M12.5 10v.1M7.5 15v.1M12.5 15v.1',
  hexagon: 'm10 2.5 6.5 3.75v7.5L10 17.5l-6.5-3.75v-7.5z',
  info: 'M10 9.3v4.5M10 6.4v.1M17.5 10a7.5 7.5 0 1 1-15 0 7.5 7.5 0 0 1 15 0Z',
  jobs: 'M3.5 5h2M3.5 10h2M3.5 15h2M8.5 5h8M8.5 10h8M8.5 15h8',
  key: 'M8 12.5a4 4 0 1 1 3.2-1.6L17 16.5M14 13.7l2-2',
  layers: 'm10 3 7.5 4L10 11 2.5 7zM3 10.5l7 3.8 7-3.8M3 13.7l7 3.8 7-3.8',
  left: 'M16 16.5V10a3 3 0 0 0-3-3H4M7.5 3.5 4 7l3.5 3.5',
  locate: 'M10 6.2a3.8 3.8 0 1 0 0 7.6 3.8 3.8 0 0 0 0-7.6ZM10 2v3M10 15v3M2 10h3M15 10h3',
  map: 'm2.5 5 5-2 5 2 5-2v12l-5 2-5-2-5 2zM7.5 3v12M12.5 5v12',
  minus: 'M4 10h12',
  moon: 'M16.8 11.6A7 7 0 0 1 8.4 3.2a7 7 0 1 0 8.4 8.4Z',
  more: 'M5 10v.1M10 10v.1M15 10v.1',
  out: 'M8 3.5H3.5v13H8M12.5 6.5 16 10l-3.5 3.5M7.5 10H16',
  pencil: 'm3.5 16.5.700-3.2L13.5 4l2.5 2.5-9.3 9.3zM12 5.5 14.5 8',
  play: 'M6 3.8v12.4L16 10z',
  plus: 'M10 4v12M4 10h12',
  right: 'M4 16.5V10a3 3 0 0 1 3-3h9M12.5 3.5 16 7l-3.5 3.5',
  route:
    'M5 17.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM15 6.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM7 15.5h6a3 3 0 0 0 0-6H7.5a3 3 0 0 1 0-5H13',
  search: 'M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12ZM13.5 13.5 17 17',
  square: 'M3.5 4.5h13v11h-13z',
  start: 'M10 17V4M5.5 8.5 10 4l4.5 4.5',
  straight: 'M10 17V3.5M6 7.5l4-4 4 4',
  streets: 'M4 17 8 3M16 17 12 3M10 4v2M10 9v2M10 14v2',
  sun: 'M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7ZM10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.3 4.3l1.1 1.1M14.6 14.6l1.1 1.1M15.7 4.3l-1.1 1.1M5.4 14.6l-1.1 1.1',
  screen: 'M2.5 3.5h15v10h-15zM7 17h6M10 13.5V17',
  trash: 'M3.5 5.5h13M8 5.5V3.5h4v2M5 5.5l.8 11h8.4l.8-11',
  turn: 'M6 17V8.5a4 4 0 0 1 8 0V13M10.5 10 14 13.5 17.5 10',
  upload: 'M10 13V3.5M6 7l4-4 4 4M3.5 12.5v4h13v-4',
  user: 'M10 10.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM3.5 17c.7-3 3.2-4.5 6.5-4.5s5.8 1.5 6.5 4.5',
} as const

export type IconName = keyof typeof PATHS

/** An icon beside a text, or with its own label. */
export function Icon({ name, size = 16, label }: { name: IconName; size?: number; label?: string }): JSX.Element {
  return (
    <svg
      class="icon-svg"
      width={size}
      height={size}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      stroke-width="1.6"
      stroke-linecap="round"
      stroke-linejoin="round"
      {...(label ? { role: 'img', 'aria-label': label } : { 'aria-hidden': 'true' })}
    >
      <path d={PATHS[name]} />
    </svg>
  )
}

/** The mark of the platform. */
export function Mark(): JSX.Element {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="#0d6e63" />
      <path
        d="M5 21.5 12 11l4.2 6.1L19 13l8 8.5"
        fill="none"
        stroke="#fff"
        stroke-width="2.4"
        stroke-linejoin="round"
        stroke-linecap="round"
      />
      <path
        d="M5 25.6c4-2.4 7.6-2.4 11 0s7 2.4 11 0"
        fill="none"
        stroke="#8ee3d4"
        stroke-width="2"
        stroke-linecap="round"
      />
    </svg>
  )
}
