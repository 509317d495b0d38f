// Before the first paint: the colours and the language that were chosen, so that nothing flashes.
(() => {
  const root = document.documentElement;
  const kept = (name) => {
    try {
      return localStorage.getItem(`actormem.${name}`);
    } catch {
      return null; // storage may be shut off
    }
  };
  const colours = kept("colours");
  if (colours === "light" || colours === "dark") root.dataset.colours = colours;
  const language = kept("language") ?? navigator.language ?? "en";
  root.lang = language.toLowerCase().startsWith("zh") ? "zh-CN" : "en";
})();
