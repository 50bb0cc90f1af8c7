/**
 * The pages' only script: searches tables that are already there, and opens what is folded before printing. Without it
 * everything can still be read. It writes text only, never markup.
 */
export const PAGE_SCRIPT = `
'use strict';
for (const box of document.querySelectorAll('input[data-search]')) {
  const table = document.getElementById(box.dataset.search);
  const status = document.getElementById(box.dataset.status);
  const rows = table.classList.contains('groups') ? [...table.tBodies] : [...table.tBodies[0].rows];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const apply = () => {
    const words = box.value.toLowerCase().split(/\\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, at) => {
      const match = words.every((word) => texts[at].includes(word));
      if (row.hidden === match) row.hidden = !match;
      if (match) shown += 1;
    });
    status.textContent = shown + ' of ' + rows.length + ' shown';
  };
  box.closest('.search').hidden = false;
  box.addEventListener('input', apply);
}
let opened = [];
addEventListener('beforeprint', () => {
  opened = [...document.querySelectorAll('details:not([open])')];
  for (const details of opened) details.open = true;
});
addEventListener('afterprint', () => {
  for (const details of opened) details.open = false;
});
`;
