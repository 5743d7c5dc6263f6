
var P=(()=>{"use strict";
var D=JSON.parse(document.getElementById("data").textContent),W=D.texts,q=(s,e)=>(e||document).querySelector(s),
all=(s,e)=>Array.from((e||document).querySelectorAll(s));

/* Language: words of the page by their table, sentences of the document by their translation. */
var zh,button=q("#lang"),after;
function speak(to){zh=to;document.documentElement.lang=zh?"zh-CN":"en";
all("[data-t]").forEach(e=>{e.en=e.en||e.textContent;e.textContent=zh?W[e.dataset.t]:e.en});
all("[data-zh]").forEach(e=>{e.told=e.told||Array.from(e.childNodes);e.replaceChildren(...zh?[e.dataset.zh]:e.told)});
all("section>svg.c").forEach(s=>{s.en=s.en||s.getAttribute("aria-label");
s.setAttribute("aria-label",zh?q("h2",s.parentNode).textContent:s.en)});after();button.textContent=zh?"English":"中文"}
function begin(then){after=then;button.hidden=false;button.onclick=()=>speak(!zh);if(/^zh/.test(navigator.language))speak(true)}

/* Tables sort by a click. */
function sorts(selector){all(selector).forEach(t=>{var b=q("tbody",t),hs=all("th",t);
hs.forEach((h,i)=>{h.className+=" sort";h.tabIndex=0;h.onkeydown=e=>{if(e.key==="Enter")h.click()};
h.onclick=()=>{var up=h.ariaSort==="descending";hs.forEach(o=>{o.ariaSort=null});h.ariaSort=up?"ascending":"descending";
all("tr",b).map(r=>{var c=r.cells[i],t=c.textContent,v=parseFloat(c.dataset.v||t);return[isNaN(v)?(t==="–"?-1/0:t):v,r]}).sort((a,c)=>{
var d=typeof a[0]==="number"&&typeof c[0]==="number"?a[0]-c[0]:String(a[0]).localeCompare(String(c[0]));return up?d:-d})
.forEach(p=>b.appendChild(p[1]))}})})}
return{D,W,q,all,begin,sorts,lang:()=>zh?"zh":"en"}})();
