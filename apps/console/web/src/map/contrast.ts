/** Red, green and blue of `#rrggbb`, 0 to 255; null for other colours. */
function channelsOf(color: string): readonly number[] | null {
  return /^#[\da-f]{6}$/i.test(color) ? [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16)) : null
}

/** Relative luminance of WCAG 2.2. */
function luminance(channels: readonly number[]): number {
  const [red = 0, green = 0, blue = 0] = channels.map((value) => {
    const share = value / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/**
 * Contrast (WCAG 2.2, 1 to 21) of a colour that is drawn with an opacity on a ground, both `#rrggbb`. Null for other
 * notations of colours.
 */
export function contrastOn(ground: string, color: string, opacity = 1): number | null {
  const [over, under] = [channelsOf(color), channelsOf(ground)]
  if (!over || !under) return null
  const [low, high] = [luminance(over.map((value, i) => value * opacity + under[i]! * (1 - opacity))), luminance(under)]
  return (Math.max(low, high) + 0.05) / (Math.min(low, high) + 0.05)
}
